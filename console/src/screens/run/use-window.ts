import { type RefObject, useEffect, useState } from 'react'

/** Rows above and below the visible ones that are rendered too. */
const overscan = 12
/** Until the height of the region is known. */
const firstHeight = 720

type Window = { first: number; last: number; rowHeight: number }

/**
 * The rows of a scrolling region that are in view, when all are of one height, given in rem.
 * Others are not rendered.
 */
export const useWindow = (
  ref: RefObject<HTMLElement | null>,
  count: number,
  rowRem: number,
): Window => {
  const [scroll, setScroll] = useState({ top: 0, height: firstHeight, rowHeight: rowRem * 16 })
  useEffect(() => {
    const element = ref.current
    if (!element) return undefined
    const measure = () => {
      const fontSize = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
      const rowHeight = rowRem * fontSize
      setScroll({ top: element.scrollTop, height: element.clientHeight, rowHeight })
    }
    measure()
    element.addEventListener('scroll', measure, { passive: true })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => {
      element.removeEventListener('scroll', measure)
      observer.disconnect()
    }
  }, [ref, rowRem])
  const { top, height, rowHeight } = scroll
  return {
    first: Math.max(0, Math.floor(top / rowHeight) - overscan),
    last: Math.min(count, Math.ceil((top + height) / rowHeight) + overscan),
    rowHeight,
  }
}
