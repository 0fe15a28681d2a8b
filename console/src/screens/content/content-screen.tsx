import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { memberNamesQuery } from '../../api/members.ts'
import { Button } from '../../components/button.tsx'
import { Select } from '../../components/fields.tsx'
import { Page } from '../../components/page.tsx'
import { numberedPages } from '../../components/page-numbers.ts'
import { EmptyState, ForbiddenState, QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import styles from './content.module.css'
import { type Content, contentsQuery } from './content-queries.ts'
import { labelOf, Preview, typeLabels } from './preview.tsx'

const route = getRouteApi('/content')

const types = [
  { id: 'all', label: 'All types' },
  { id: 'image', label: typeLabels.image },
  { id: 'audio', label: typeLabels.audio },
  { id: 'video', label: typeLabels.video },
  { id: 'glb', label: typeLabels.glb },
  { id: 'other', label: typeLabels.other },
] as const

const statuses = [
  { id: 'all', label: 'All statuses' },
  { id: 'pending', label: 'Pending' },
  { id: 'processing', label: 'Processing' },
  { id: 'completed', label: 'Completed' },
  { id: 'failed', label: 'Failed' },
] as const

/** Everybody whose content may be read; only the caller without delegation. */
const useOwners = () => {
  const { can, isManager, organizationId } = useSession()
  const isAllowed = can('users:delegate') && can('admin:read') && isManager
  const { data } = useQuery({ ...memberNamesQuery(organizationId), enabled: isAllowed })
  const members = [...(data ?? [])].map(([id, name]) => ({ id, label: name }))
  return members.length > 0 ? [{ id: 'me', label: 'My content' }, ...members] : []
}

const Filters = () => {
  const { type = 'all', status = 'all', user = 'me' } = route.useSearch()
  const navigate = route.useNavigate()
  const owners = useOwners()
  const change = (part: Partial<ReturnType<typeof route.useSearch>>) =>
    void navigate({ search: (former) => ({ ...former, page: undefined, ...part }) })
  return (
    <div className={styles.filters}>
      <Select
        label="Type"
        hideLabel
        options={types}
        value={type}
        onChange={(id) => change({ type: id === 'all' ? undefined : id })}
      />
      <Select
        label="Status"
        hideLabel
        options={statuses}
        value={status}
        onChange={(id) => change({ status: id === 'all' ? undefined : id })}
      />
      {owners.length > 0 && (
        <Select
          label="User"
          hideLabel
          options={owners}
          value={user}
          onChange={(id) => change({ user: id === 'me' ? undefined : id })}
        />
      )}
    </div>
  )
}

const Item = ({ item, user }: { item: Content; user: string | undefined }) => (
  <li className={styles.item}>
    <div className={styles.frame}>
      <Preview item={item} />
    </div>
    <div className={styles.caption}>
      <Link
        to="/content/$contentId"
        params={{ contentId: item.id }}
        search={{ user }}
        className={styles.prompt}
        dir="auto"
      >
        {item.prompt || item.id}
      </Link>
      <div className={styles.meta}>
        {item.status !== 'completed' && <Status status={item.status} />}
        {item.content_type && <span>{labelOf(item)}</span>}
        <Time at={item.created_at} />
      </div>
    </div>
  </li>
)

const GallerySkeleton = () => (
  <div className={styles.gallery}>
    {['a', 'b', 'c', 'd', 'e', 'f'].map((id) => (
      <Skeleton key={id} height="16rem" />
    ))}
  </div>
)

const Gallery = () => {
  const { type, status, user, page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery(contentsQuery({ type, status, user, page }))
  return (
    <QueryView query={query} skeleton={<GallerySkeleton />}>
      {({ items, total, has_more }) => {
        if (items.length === 0)
          return type || status || page > 1 ? (
            <EmptyState icon="content" title="No content matches these filters" />
          ) : (
            <EmptyState icon="content" title="No content yet">
              Images, sounds and 3D models that agents generate appear here. Only those of the
              chosen user are listed; an API key of an organization lists its own.
            </EmptyState>
          )
        const paging = numberedPages({
          page,
          hasNext: has_more,
          onPage: (next) => void navigate({ search: (former) => ({ ...former, page: next }) }),
        })
        return (
          <>
            <ul className={styles.gallery} aria-label="Content">
              {items.map((item) => (
                <Item key={item.id} item={item} user={user} />
              ))}
            </ul>
            <div className={styles.footer}>
              <span>{total} in total</span>
              {paging && (
                <nav className="row" aria-label="Pages">
                  <span className="number">Page {paging.page}</span>
                  <Button
                    icon="chevron-left"
                    isDisabled={!paging.previous}
                    onPress={() => paging.previous?.()}
                  >
                    Previous
                  </Button>
                  <Button
                    icon="chevron-right"
                    isDisabled={!paging.next}
                    onPress={() => paging.next?.()}
                  >
                    Next
                  </Button>
                </nav>
              )}
            </div>
          </>
        )
      }}
    </QueryView>
  )
}

/** What agents have generated. */
export const ContentScreen = () => {
  const { can } = useSession()
  return (
    <Page title="Content" description="Images, sounds, videos and 3D models that agents generate.">
      {can('content:read') ? (
        <>
          <Filters />
          <Gallery />
        </>
      ) : (
        <ForbiddenState scope="content:read" what="content" />
      )}
    </Page>
  )
}
