type Item = { id: string; storage_url: string | null }

const dayMs = 86_400_000
const links = new Map<string, { path: string; at: number }>()

/**
 * The path of an item's file. Every answer signs a new link; the first one stays for a day, so that
 * a file is not loaded again with each answer.
 */
export const filePath = ({ id, storage_url }: Item): string | undefined => {
  if (!storage_url) return undefined
  const former = links.get(id)
  if (former && Date.now() - former.at < dayMs) return former.path
  const { pathname, search } = new URL(storage_url)
  const path = `${pathname}${search}`
  links.set(id, { path, at: Date.now() })
  return path
}
