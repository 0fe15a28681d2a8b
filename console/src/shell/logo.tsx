/** The sign of the product, beside its name. */
export const Logo = ({ size = 24 }: { size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="6" fill="#134e4a" />
    <path d="M6 6v20M11 6v20" stroke="#5eead4" strokeWidth="3" />
    <circle cx="17" cy="12" r="2.5" fill="#5eead4" />
    <circle cx="17" cy="20" r="2.5" fill="#5eead4" />
  </svg>
)
