/** Class names without those that are absent: `classNames(styles.cell, isWide && styles.wide)`. */
export const classNames = (...names: readonly (string | false | null | undefined)[]): string =>
  names.filter(Boolean).join(' ')
