import { type ColumnDef, type RowData, tableFeatures, useTable } from '@tanstack/react-table'
import { type ReactNode, useEffect, useRef } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import styles from './data-table.module.css'
import { Icon } from './icon.tsx'
import { ScrollRegion } from './scroll-region.tsx'
import { FailedState, Skeleton } from './states.tsx'

type Meta = {
  /** Numbers end at one edge. */
  align?: 'end'
  /** Left out on narrow windows: `low` below 1,024 pixels, `medium` below 768. */
  priority?: 'low' | 'medium'
  /** The column that names the row, usually with the link to its page. */
  main?: boolean
  /** The name of the server's order by this column; without it the column does not sort. */
  sort?: string
}

/** Sorting and paging happen on the server. */
const features = tableFeatures({ columnMeta: {} as Meta })

/** A column: `{ id, header, cell: ({ row: { original } }) => …, meta }`. */
export type Column<T extends RowData> = ColumnDef<typeof features, T>

export type Sort = { by: string; descending: boolean }

/** Pages by cursor: the server says what comes next, the hook remembers what was before. */
export type Paging = {
  page: number
  first: (() => void) | undefined
  previous: (() => void) | undefined
  next: (() => void) | undefined
}

type CursorOptions = {
  /** Of the page at hand, from the address; undefined for the first. */
  cursor: string | undefined
  /** From the answer; null or undefined on the last page. */
  nextCursor: string | null | undefined
  /** Puts a cursor into the address. */
  onCursor: (cursor: string | undefined) => void
}

/** Next and previous page of a list whose cursor is in the address. A reload keeps the page. */
export const useCursorPaging = ({ cursor, nextCursor, onCursor }: CursorOptions): Paging => {
  const former = useRef<(string | undefined)[]>([])
  useEffect(() => {
    if (cursor === undefined) former.current = []
  }, [cursor])
  const isDeep = cursor !== undefined
  const canGoBack = isDeep && former.current.length > 0
  return {
    page: isDeep ? former.current.length + 1 : 1,
    first: isDeep ? () => onCursor(undefined) : undefined,
    previous: canGoBack ? () => onCursor(former.current.pop()) : undefined,
    next: nextCursor
      ? () => {
          former.current.push(cursor)
          onCursor(nextCursor)
        }
      : undefined,
  }
}

type DataTableProps<T extends RowData> = {
  /** What the table lists, for assistive technology. */
  label: string
  columns: Column<T>[]
  /** Undefined while the first page is on its way. */
  rows: readonly T[] | undefined
  rowId: (row: T) => string
  /** The whole row leads where the link of its main column does. */
  linked?: boolean
  sort?: Sort | undefined
  onSort?: (sort: Sort) => void
  /** Undefined where one page has all. */
  paging?: Paging | undefined
  error?: unknown
  onRetry?: () => void
  /** In place of rows where there are none. */
  empty?: ReactNode
  /** Rows of the skeleton. */
  expectedRows?: number
  /** At the left end of the footer. */
  summary?: ReactNode
}

const noRows: readonly never[] = []

const PageButtons = ({ page, first, previous, next }: Paging) => (
  <nav className="row" aria-label="Pages">
    <span className="number">Page {page}</span>
    <Button onPress={() => first?.()} isDisabled={!first}>
      First
    </Button>
    <Button icon="chevron-left" onPress={() => previous?.()} isDisabled={!previous}>
      Previous
    </Button>
    <Button onPress={() => next?.()} isDisabled={!next}>
      Next
      <Icon name="chevron-right" />
    </Button>
  </nav>
)

/** Gives a name that is cut its whole as a title, once the mouse is over it. */
const titleIfCut = ({ currentTarget: cell }: { currentTarget: HTMLElement }) => {
  cell.title = cell.scrollWidth > cell.clientWidth ? cell.innerText : ''
}

const ariaSort = (isSorted: boolean, sort: Sort | undefined) => {
  if (!isSorted) return 'none'
  return sort?.descending ? 'descending' : 'ascending'
}

/** A list from the server, page by page, in the order of one column. */
export function DataTable<T extends RowData>(props: DataTableProps<T>) {
  const { label, columns, rows, rowId, linked = false, sort, onSort, paging } = props
  const { error, onRetry, empty, expectedRows = 8, summary } = props
  const table = useTable({ features, data: rows ?? noRows, columns, getRowId: rowId })
  const classOf = (meta: Column<T>['meta']) =>
    classNames(
      meta?.align === 'end' && styles.end,
      meta?.priority && styles[meta.priority],
      meta?.main && styles.main,
    )
  const isLoading = rows === undefined && !error
  const hasRows = rows !== undefined && rows.length > 0
  const hasFooter = paging && (hasRows || paging.first)
  if (rows?.length === 0 && !error && empty && !paging?.first) return empty
  return (
    <div className={styles.frame} aria-busy={isLoading}>
      <ScrollRegion className={styles.scroll} label={label}>
        <table className={styles.table} aria-label={label}>
          <thead>
            <tr>
              {table.getFlatHeaders().map((header) => {
                const { id, column } = header
                const { meta } = column.columnDef
                const by = meta?.sort
                const isSorted = by !== undefined && sort?.by === by
                const content = <table.FlexRender key={id} header={header} />
                return (
                  <th
                    key={id}
                    scope="col"
                    className={classOf(meta)}
                    aria-sort={by && onSort ? ariaSort(isSorted, sort) : undefined}
                  >
                    {by && onSort ? (
                      <AriaButton
                        className={classNames(styles.sort, isSorted && styles.sorted)}
                        onPress={() =>
                          onSort({ by, descending: isSorted ? !sort?.descending : true })
                        }
                      >
                        {content}
                        {isSorted && (
                          <Icon name={sort?.descending ? 'arrow-down' : 'arrow-up'} size={12} />
                        )}
                      </AriaButton>
                    ) : (
                      content
                    )}
                  </th>
                )
              })}
            </tr>
          </thead>
          <tbody>
            {isLoading &&
              Array.from({ length: expectedRows }, (_, row) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike
                <tr key={row}>
                  {table.getAllLeafColumns().map(({ id, columnDef }) => (
                    <td key={id} className={classOf(columnDef.meta)}>
                      <Skeleton width={columnDef.meta?.main ? '70%' : '4rem'} height="1.1em" />
                    </td>
                  ))}
                </tr>
              ))}
            {table.getRowModel().rows.map((row) => (
              <tr key={row.id} className={linked ? styles.linked : undefined}>
                {row.getAllCells().map((cell) => {
                  const { id, column } = cell
                  const { meta } = column.columnDef
                  const content = <table.FlexRender key={id} cell={cell} />
                  return meta?.main ? (
                    <th key={id} scope="row" className={classOf(meta)} onMouseEnter={titleIfCut}>
                      {content}
                    </th>
                  ) : (
                    <td key={id} className={classOf(meta)}>
                      {content}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {isLoading && (
        <span className="visually-hidden" role="status">
          Loading
        </span>
      )}
      {error !== undefined && error !== null && (
        <div className={styles.message}>
          <FailedState error={error} onRetry={onRetry} />
        </div>
      )}
      {rows?.length === 0 && !error && (
        <div className={styles.message}>{empty ?? 'Nothing here'}</div>
      )}
      {hasFooter && (
        <div className={styles.footer}>
          <span>{summary}</span>
          <PageButtons {...paging} />
        </div>
      )}
    </div>
  )
}
