const full = process.env.TESTS === 'full'

/** How often something random is tried: for everyday, and with `TESTS=full` as CI does it. */
export const rounds = (everyday: number, thorough: number): number => (full ? thorough : everyday)
