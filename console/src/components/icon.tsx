/** Paths on a grid of 16, drawn with lines of 1.5. */
const paths = {
  overview: 'M2.5 13.5v-5M6.2 13.5v-11M9.8 13.5v-7M13.5 13.5v-9',
  runs: 'M2.5 4h11M2.5 8h7M2.5 12h9M13 7v4l-2-2z',
  playground: 'M2.5 3.5h11v7h-6l-3 3v-3h-2z',
  agents:
    'M8 2.5v3M5 8l-1.5 2.5M11 8l1.5 2.5M6 5.5h4v3H6zM1.8 10.5h3.6v3H1.8zM10.6 10.5h3.6v3h-3.6z',
  knowledge:
    'M8 4C6.5 3 4.5 2.7 2.5 3v9.5c2-.3 4 0 5.5 1 1.5-1 3.5-1.3 5.5-1V3C11.5 2.7 9.5 3 8 4zM8 4v9.5',
  content: 'M2.5 3h11v10h-11zM2.5 11l3-3.5 2.5 2.5 2-2 3.5 3.5M10.5 5.7h.01',
  approvals: 'M8 1.8l5.5 2v4c0 3.2-2.3 5.3-5.5 6.4-3.2-1.1-5.5-3.2-5.5-6.4v-4zM5.5 8l2 2 3.2-3.7',
  table: 'M2.5 3h11v10h-11zM2.5 6.5h11M2.5 9.75h11M6.5 6.5v6.5',
  account:
    'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 8.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM4.3 12.6c.6-1.5 2-2.3 3.7-2.3s3.1.8 3.7 2.3',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.7a2.5 2.5 0 0 1 0 4.6M12.5 9.8c1.3.6 2 1.9 2 3.7',
  history: 'M2.5 8a5.5 5.5 0 1 0 1.7-4M2.5 2v2.5H5M8 5v3.2l2.2 1.5',
  feeds: 'M3 13h.01M3 8.5A4.5 4.5 0 0 1 7.5 13M3 4a9 9 0 0 1 9 9',
  search: 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM10.7 10.7L14 14',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  collapse: 'M9.5 4l-4 4 4 4M13 4v8',
  expand: 'M6.5 4l4 4-4 4M3 4v8',
  'chevron-down': 'M4 6l4 4 4-4',
  'chevron-left': 'M10 3.5L5.5 8l4.5 4.5',
  'chevron-right': 'M6 3.5L10.5 8 6 12.5',
  'arrow-up': 'M8 13V3M4 7l4-4 4 4',
  'arrow-down': 'M8 3v10M4 9l4 4 4-4',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6z',
  system: 'M2 3h12v8H2zM5.5 13.5h5M8 11v2.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  warning: 'M8 2.2l6.2 11H1.8zM8 6.5v3M8 11.5h.01',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5V11M8 5h.01',
  'sign-out': 'M6 2.5H3v11h3M10 5l3 3-3 3M13 8H6',
  plus: 'M8 3v10M3 8h10',
  refresh: 'M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 2v2.5H11',
  filter: 'M2.5 3.5h11L9.5 8.5v4l-3 1v-5z',
  external: 'M6.5 3.5h-4v10h10v-4M9.5 2.5h4v4M13.5 2.5L7.5 8.5',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  lock: 'M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  stop: 'M4 4h8v8H4z',
  code: 'M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5',
  fork: 'M4.5 5.5v5M4.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 5.5c0 2.5-2 3-7 3',
  trash: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9',
  keyboard: 'M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M5 9.5h6',
} as const

export type IconName = keyof typeof paths

/** A picture beside a label; alone it needs a control with an accessible name. */
export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={paths[name]} />
  </svg>
)
