import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { SearchField } from '../../components/fields.tsx'
import { EmptyState, QueryView, Skeleton } from '../../components/states.tsx'
import styles from './knowledge.module.css'
import { searchQuery } from './knowledge-queries.ts'

type SearchTabProps = { datastoreId: string; query: string; onQuery: (query: string) => void }

const score = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })

const Passages = ({ datastoreId, query }: Omit<SearchTabProps, 'onQuery'>) => {
  const results = useQuery(searchQuery(datastoreId, query))
  return (
    <QueryView query={results} skeleton={<Skeleton lines={3} height="6rem" />}>
      {(passages) =>
        passages.length === 0 ? (
          <EmptyState icon="search" title="No passage found">
            No document of this DataStore has words of the query.
          </EmptyState>
        ) : (
          <ol className={styles.passages} aria-label="Passages">
            {passages.map(({ upload_id, filename, chunk, text, place, score: value }) => (
              <li key={`${upload_id} ${chunk}`} className={`card ${styles.passage}`}>
                <header>
                  <span className={styles.place}>
                    <Link
                      to="/knowledge/$datastoreId"
                      params={{ datastoreId }}
                      search={{ tab: 'search', q: query, upload: upload_id }}
                      dir="auto"
                    >
                      {filename}
                    </Link>
                    <span className="soft" dir="auto">
                      {place}
                    </span>
                  </span>
                  <span className="soft number">Score {score.format(value)}</span>
                </header>
                <p dir="auto">{text}</p>
              </li>
            ))}
          </ol>
        )
      }
    </QueryView>
  )
}

/** The passages that agents would get for a query, with their scores. */
export const SearchTab = ({ datastoreId, query, onQuery }: SearchTabProps) => {
  const [text, setText] = useState(query)
  return (
    <div className="stack">
      <form
        className={styles.search}
        onSubmit={(event) => {
          event.preventDefault()
          onQuery(text.trim())
        }}
      >
        <SearchField label="Search the documents" value={text} onChange={setText} />
        <Button type="submit" isDisabled={text.trim() === ''}>
          Search
        </Button>
      </form>
      {query === '' ? (
        <EmptyState icon="search" title="Search as an agent does">
          Shows the passages that an agent would get for a question, the best first.
        </EmptyState>
      ) : (
        <Passages datastoreId={datastoreId} query={query} />
      )}
    </div>
  )
}
