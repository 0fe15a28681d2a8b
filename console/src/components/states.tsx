import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError, messageOf } from '../api/problem.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import styles from './states.module.css'

type EmptyStateProps = { icon?: IconName; title: string; children?: ReactNode; action?: ReactNode }

/** Nothing there yet: says what will be here, and how it gets here. */
export const EmptyState = ({ icon = 'info', title, children, action }: EmptyStateProps) => (
  <div className={styles.state}>
    <Icon name={icon} size={24} />
    <h2>{title}</h2>
    {children && <p>{children}</p>}
    {action && <div className={styles.actions}>{action}</div>}
  </div>
)

type ErrorStateProps = { error: unknown; title?: string; onRetry?: (() => void) | undefined }

/** What the server said, with its code and the request's id, and a way to try again. */
export const ErrorState = ({
  error,
  title = 'This could not be loaded',
  onRetry,
}: ErrorStateProps) => (
  <div className={styles.error} role="alert">
    <Icon name="warning" />
    <div className={styles.words}>
      <strong>{title}</strong>
      <span>{messageOf(error)}</span>
      {error instanceof ApiError && (
        <span className="soft small">
          <code>{error.code}</code>
          {error.requestId && (
            <>
              {' · request '}
              <code>{error.requestId}</code>
            </>
          )}
        </span>
      )}
    </div>
    {onRetry && (
      <Button icon="refresh" onPress={onRetry}>
        Try again
      </Button>
    )}
  </div>
)

type ForbiddenStateProps = { scope?: string | undefined; message?: string; what?: string }

/** Which scope or role is missing. */
export const ForbiddenState = ({ scope, message, what = 'this' }: ForbiddenStateProps) => (
  <div className={styles.state}>
    <Icon name="lock" size={24} />
    <h2>You may not see {what}</h2>
    <p>
      {message ?? (
        <>
          {scope && (
            <>
              It needs the scope <code>{scope}</code>.{' '}
            </>
          )}
          Ask an owner or admin of the organization.
        </>
      )}
    </p>
  </div>
)

type SkeletonProps = { width?: string | number; height?: string | number; lines?: number }

/** The place of content that is on its way, in its size, so that nothing moves when it arrives. */
export const Skeleton = ({ width = '100%', height = '1em', lines = 1 }: SkeletonProps) => {
  if (lines === 1)
    return <span className={styles.skeleton} style={{ width, height }} aria-hidden="true" />
  return (
    <div className={styles.lines} aria-hidden="true">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike and never change places
        <span key={line} className={styles.skeleton} style={{ width, height }} />
      ))}
    </div>
  )
}

/** The failure of a request as its state: forbidden, or failed with a way to try again. */
export const FailedState = ({ error, onRetry }: Omit<ErrorStateProps, 'title'>) =>
  error instanceof ApiError && error.status === 403 ? (
    <ForbiddenState message={error.message} />
  ) : (
    <ErrorState error={error} onRetry={onRetry} />
  )

type QueryViewProps<T> = {
  query: UseQueryResult<T>
  /** In the size of the content. */
  skeleton: ReactNode
  children: (data: T) => ReactNode
}

type LoadingProps = { className?: string | undefined; children: ReactNode }

/** Skeletons in the place of content, with the word for those who hear the page. */
export const Loading = ({ className, children }: LoadingProps) => (
  <div aria-busy="true" className={className}>
    <span className="visually-hidden" role="status">
      Loading
    </span>
    {children}
  </div>
)

/** A query as what it is: loading, failed, forbidden, or its content. */
export function QueryView<T>({ query, skeleton, children }: QueryViewProps<T>) {
  const { data, error, isPending, refetch } = query
  if (data !== undefined) return children(data)
  if (isPending) return <Loading>{skeleton}</Loading>
  return <FailedState error={error} onRetry={() => void refetch()} />
}
