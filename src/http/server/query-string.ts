import { parse } from 'node:querystring'

/** More parameters than any route has. */
export const mostParameters = 100

/** Percent signs that do not decode are taken literally. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Parses the part of a URL after `?`, or a form, and no more parameters than a query may have. */
export const parseQuery = (text: string) =>
  parse(text, '&', '=', { maxKeys: mostParameters, decodeURIComponent: decoded })

/** Whether a URL has more parameters than are parsed. */
export const hasManyParameters = (url: string): boolean => {
  let count = 1
  for (let n = url.indexOf('&'); n !== -1; n = url.indexOf('&', n + 1))
    if (++count > mostParameters) return true
  return false
}
