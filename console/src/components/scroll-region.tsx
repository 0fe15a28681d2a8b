import { type ReactNode, useEffect, useRef, useState } from 'react'

type ScrollRegionProps = { label: string; className?: string | undefined; children: ReactNode }

/** Content that may be wider or higher than its frame: then the keyboard reaches and scrolls it. */
export const ScrollRegion = ({ label, className, children }: ScrollRegionProps) => {
  const ref = useRef<HTMLDivElement>(null)
  const [overflows, setOverflows] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element) return undefined
    const measure = () => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element
      setOverflows(scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    if (element.firstElementChild) observer.observe(element.firstElementChild)
    return () => observer.disconnect()
  }, [])
  const region = overflows ? { role: 'region', tabIndex: 0, 'aria-label': label } : {}
  return (
    <div ref={ref} className={className} {...region}>
      {children}
    </div>
  )
}
