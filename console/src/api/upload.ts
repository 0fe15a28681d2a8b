import { signals } from './client.ts'
import { problemOf } from './problem.ts'

const headersOf = (request: XMLHttpRequest): Headers => {
  const headers = new Headers()
  for (const line of request.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return headers
}

const bodyOf = ({ responseText }: XMLHttpRequest): unknown => {
  try {
    return JSON.parse(responseText)
  } catch {
    return undefined
  }
}

/**
 * Posts a form and says how many of its bytes are sent, which fetch cannot.
 * @throws ApiError; TypeError where the server cannot be reached
 */
export const postForm = (
  path: string,
  form: FormData,
  onProgress: (sent: number, total: number) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', path)
    if (signals.csrfToken) request.setRequestHeader('x-csrf-token', signals.csrfToken)
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total)
    request.onerror = () => reject(new TypeError('The server cannot be reached'))
    request.onload = () => {
      const { status } = request
      if (status >= 200 && status < 300) return resolve()
      if (status === 401) signals.onSignedOut()
      return reject(problemOf(status, headersOf(request), bodyOf(request)))
    }
    request.send(form)
  })
