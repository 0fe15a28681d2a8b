const locale = 'en'
const plain = new Intl.NumberFormat(locale)
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
const fine = new Intl.NumberFormat(locale, { maximumFractionDigits: 2, minimumFractionDigits: 2 })
const finest = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })

/** A missing value. */
export const missing = '–'

/** 12,345. */
export const formatNumber = (value: number | null | undefined): string =>
  value === null || value === undefined ? missing : plain.format(value)

/** 12.3K, for charts and numbers at a glance. */
export const formatCompact = (value: number | null | undefined): string =>
  value === null || value === undefined ? missing : compact.format(value)

/** Credits with two digits, or with two significant ones below 0.01. */
export const formatCredits = (value: number | null | undefined): string => {
  if (value === null || value === undefined) return missing
  return value !== 0 && Math.abs(value) < 0.01 ? finest.format(value) : fine.format(value)
}

/** 12.3%, of a ratio. */
export const formatPercent = (ratio: number | null | undefined): string =>
  ratio === null || ratio === undefined || Number.isNaN(ratio) ? missing : percent.format(ratio)

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** 1.5 MB; a kB has 1,000 bytes. */
export const formatBytes = (bytes: number | null | undefined): string => {
  if (bytes === null || bytes === undefined) return missing
  const exponent = bytes < 1_000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** exponent
  const digits = exponent === 0 || value >= 100 ? 0 : 1
  return `${value.toFixed(digits)} ${units[exponent]}`
}
