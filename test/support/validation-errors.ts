import { z } from 'zod'

/** How many errors zod puts into words meanwhile, in this process. */
export const errorsCounted = async <T>(
  work: () => Promise<T>,
): Promise<{ errors: number; result: T }> => {
  const { localeError } = z.config()
  let errors = 0
  z.config({
    localeError(issue) {
      errors++
      return localeError?.(issue)
    },
  })
  try {
    const result = await work()
    return { errors, result }
  } finally {
    z.config({ localeError })
  }
}
