/**
 * The URL that a request is routed by. In a path that does not decode, percent signs are taken
 * literally: the request passes the same checks as any other and then matches nothing.
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
