/**
 * The address that a request is routed by. One that does not decode has its percent signs taken as
 * they are written: it meets the same checks as any other, and then names nothing.
 */
export const decodable = ({ url = '/' }: { url?: string | undefined }): string => {
  if (!url.includes('%')) return url
  const [path = ''] = url.split('?', 1)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length)
  }
}
