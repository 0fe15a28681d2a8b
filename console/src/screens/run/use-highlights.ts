import { type RefObject, useEffect } from 'react'

const name = 'run-search'
const most = 2_000

const rangesIn = (root: Node, words: string): Range[] => {
  const ranges: Range[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.textContent ?? '').toLowerCase()
    for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + words.length)) {
      const range = new Range()
      range.setStart(node, at)
      range.setEnd(node, at + words.length)
      ranges.push(range)
      if (ranges.length === most) return ranges
    }
  }
  return ranges
}

/** Marks words wherever an element shows them, also after it changes; no element is added. */
export const useHighlights = (ref: RefObject<HTMLElement | null>, words: string): void => {
  useEffect(() => {
    const root = ref.current
    if (!root || words === '' || typeof Highlight === 'undefined') return undefined
    const mark = () => CSS.highlights.set(name, new Highlight(...rangesIn(root, words)))
    mark()
    const observer = new MutationObserver(mark)
    observer.observe(root, { childList: true, characterData: true, subtree: true })
    return () => {
      observer.disconnect()
      CSS.highlights.delete(name)
    }
  }, [ref, words])
}
