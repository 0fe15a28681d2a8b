import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { filePath } from '../../api/content-file.ts'
import { messageOf } from '../../api/problem.ts'
import { Credits, Duration } from '../../components/amounts.tsx'
import { Button, buttonClass } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { JsonBlock } from '../../components/code-block.tsx'
import { notify } from '../../components/messages.tsx'
import { Page } from '../../components/page.tsx'
import { ForbiddenState, QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { UserName } from '../../session/user-name.tsx'
import styles from './content.module.css'
import { type Content, contentQuery, retryContent } from './content-queries.ts'
import { labelOf, Preview } from './preview.tsx'

const route = getRouteApi('/content/$contentId')

const longestTitle = 120

const titleOf = ({ prompt, id }: Content): string => {
  if (prompt === '') return id
  return prompt.length > longestTitle ? `${prompt.slice(0, longestTitle)}…` : prompt
}

/** Whether the file is seen, instead of heard or downloaded. */
const isShown = ({ content_type }: Content): boolean =>
  content_type === 'image' || content_type === 'video'

type RetryProps = { id: string; user: string | undefined }

const Retry = ({ id, user }: RetryProps) => {
  const client = useQueryClient()
  const [isPending, setPending] = useState(false)
  const retry = async () => {
    setPending(true)
    try {
      const { message } = await retryContent(id, user)
      notify(message)
      await client.invalidateQueries({ queryKey: ['content', id] })
      void client.invalidateQueries({ queryKey: ['contents'] })
    } catch (error) {
      notify(messageOf(error), 'bad')
    } finally {
      setPending(false)
    }
  }
  return (
    <Button kind="primary" icon="refresh" isDisabled={isPending} onPress={() => void retry()}>
      Retry
    </Button>
  )
}

/** One generated item: its file, what it was made from, and why it failed. */
export const ContentItemScreen = () => {
  const { contentId } = route.useParams()
  const { user } = route.useSearch()
  const { can } = useSession()
  const isAllowed = can('content:read')
  const query = useQuery({ ...contentQuery(contentId, user), enabled: isAllowed })
  const item = query.data
  const path = item && filePath(item)
  const back = (
    <Link to="/content" search={{ user }}>
      Content
    </Link>
  )
  if (!isAllowed)
    return (
      <Page title="Content" back={back}>
        <ForbiddenState scope="content:read" what="content" />
      </Page>
    )
  return (
    <Page
      title={item ? titleOf(item) : 'Content'}
      back={back}
      actions={
        <>
          {item?.status === 'failed' && can('content:retry') && <Retry id={item.id} user={user} />}
          {path && (
            <a href={path} download={item.id} className={buttonClass('default')}>
              Download
            </a>
          )}
        </>
      }
    >
      <QueryView query={query} skeleton={<Skeleton lines={8} height="2rem" />}>
        {(current) => (
          <div className={styles.columns}>
            <div className="stack">
              <div className={classNames(styles.large, !isShown(current) && styles.small)}>
                <Preview item={current} />
              </div>
              <JsonBlock title="Request to the provider" value={current.provider_input} />
            </div>
            <section className="card stack" aria-labelledby="details">
              <h2 id="details">Details</h2>
              <dl className={styles.facts}>
                <dt>Prompt</dt>
                <dd dir="auto">{current.prompt}</dd>
                {current.content_type && (
                  <>
                    <dt>Type</dt>
                    <dd>{labelOf(current)}</dd>
                  </>
                )}
                <dt>Status</dt>
                <dd>
                  <Status status={current.status} />
                </dd>
                {current.error_message && (
                  <>
                    <dt>Error</dt>
                    <dd className="bad">{current.error_message}</dd>
                  </>
                )}
                <dt>Retries</dt>
                <dd>
                  {current.retry_count} of {current.max_retries}
                </dd>
                <dt>User</dt>
                <dd>
                  <UserName id={current.user_id} />
                </dd>
                <dt>Model</dt>
                <dd>{current.provider_version}</dd>
                <dt>Charge</dt>
                <dd>
                  <Credits amount={current.credit_cost} /> credits
                </dd>
                <dt>Created</dt>
                <dd>
                  <Time at={current.created_at} />
                </dd>
                <dt>Completed</dt>
                <dd>
                  <Time at={current.completed_at} />
                </dd>
                <dt>Duration</dt>
                <dd>
                  <Duration ms={current.processing_time_ms} />
                </dd>
                <dt>Id</dt>
                <dd className="mono">{current.id}</dd>
              </dl>
            </section>
          </div>
        )}
      </QueryView>
    </Page>
  )
}
