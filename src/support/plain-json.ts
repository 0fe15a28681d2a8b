/** Longer texts are written faster by JSON.stringify, which looks at many characters at once. */
const longest = 64

/** Whether a text stands in JSON as it is. */
export const isPlain = (text: string): boolean => {
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n)
    if (code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code < 0xe000))
      return false
  }
  return true
}

/** A text as JSON: what JSON.stringify gives, sooner where it is short and plain. */
export const jsonString = (text: string): string =>
  text.length <= longest && isPlain(text) ? `"${text}"` : JSON.stringify(text)
