import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answerOf, api } from '../api/client.ts'
import { Button } from '../components/button.tsx'
import { QueryView, Skeleton } from '../components/states.tsx'
import { Logo } from '../shell/logo.tsx'
import styles from './sign-in.module.css'

/** The organizations of the platform, for whoever signed in with the platform's key. */
export const OrganizationPicker = ({ onChoose }: { onChoose: (id: string) => void }) => {
  const [page, setPage] = useState(1)
  const query = useQuery({
    queryKey: ['organizations', page],
    queryFn: () =>
      answerOf(api.GET('/api/admin/organizations', { params: { query: { page, page_size: 50 } } })),
  })
  useEffect(() => {
    document.title = 'Organizations · Reprise'
  }, [])
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <div className={styles.brand}>
          <Logo />
          Reprise
        </div>
        <h1>Choose an organization</h1>
        <QueryView query={query} skeleton={<Skeleton lines={4} height="1.5rem" />}>
          {({ organizations, has_next }) => (
            <>
              <ul className={styles.organizations}>
                {organizations.map(({ organization_id, name }) => (
                  <li key={organization_id}>
                    <Button onPress={() => onChoose(organization_id)}>
                      <span className="truncate" dir="auto">
                        {name}
                      </span>
                    </Button>
                  </li>
                ))}
              </ul>
              {organizations.length === 0 && <p className="soft">There is no organization yet.</p>}
              {(page > 1 || has_next) && (
                <div className="row">
                  <Button isDisabled={page === 1} onPress={() => setPage(page - 1)}>
                    Previous
                  </Button>
                  <Button isDisabled={!has_next} onPress={() => setPage(page + 1)}>
                    Next
                  </Button>
                </div>
              )}
            </>
          )}
        </QueryView>
      </div>
    </main>
  )
}
