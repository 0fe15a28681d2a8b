import { useEffect, useState } from 'react'
import { Label, Slider, SliderThumb, SliderTrack } from 'react-aria-components'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/fields.tsx'
import { formatAbsolute } from '../../format/time.ts'
import { fromLocal, toLocal } from './filters.ts'
import styles from './history.module.css'

type Moment = {
  label: string
  /** A time (ISO 8601), or a position in the log; undefined stands at `otherwise`. */
  value: string | undefined
  otherwise: 'start' | 'now'
}

type TimeSliderProps = {
  label: string
  start: number
  end: number
  moments: readonly Moment[]
  onChange: (values: readonly (string | undefined)[]) => void
}

const isPosition = (value: string): boolean => /^-?\d+$/.test(value)

const steps = 1_000

/** A whole number of steps that begins at the start or just before, so that both ends are exact. */
const scaleOf = (start: number, end: number) => {
  const step = Math.max(1, Math.floor((end - start) / steps))
  return { step, min: end - step * Math.ceil((end - start) / step) }
}

const timeOf = ({ value, otherwise }: Moment, start: number, end: number): number => {
  if (value === undefined || isPosition(value)) return otherwise === 'start' ? start : end
  const at = Date.parse(value)
  return Number.isNaN(at) ? end : Math.min(end, Math.max(start, at))
}

const wordsFor = ({ value, otherwise }: Moment): string => {
  if (value === undefined) return otherwise === 'now' ? 'Now' : 'Before the first event'
  return isPosition(value) ? `After position ${value}` : formatAbsolute(new Date(value))
}

/** One or two moments between the beginning of the history and now. */
export const TimeSlider = ({ label, start: from, end, moments, onChange }: TimeSliderProps) => {
  const { step, min: start } = scaleOf(from, end)
  const stored = moments.map((moment) => timeOf(moment, start, end))
  const key = stored.join()
  const [dragged, setDragged] = useState<number[]>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new address ends the dragging
  useEffect(() => setDragged(undefined), [key])
  const times = dragged ?? stored
  const momentAt = (at: number, { otherwise }: Moment): string | undefined => {
    const isEnd = otherwise === 'now' ? at >= end : at <= start
    return isEnd ? undefined : new Date(at).toISOString()
  }
  const set = (index: number, value: string | undefined) =>
    onChange(moments.map((moment, at) => (at === index ? value : moment.value)))
  return (
    <div className={styles.moments}>
      <Slider
        aria-label={label}
        className={styles.slider ?? ''}
        minValue={start}
        maxValue={end}
        step={step}
        value={times}
        onChange={(values) => setDragged([values].flat())}
        onChangeEnd={(values) =>
          onChange(
            [values].flat().map((at, index) => {
              const moment = moments[index]
              if (!moment) return undefined
              return at === stored[index] ? moment.value : momentAt(at, moment)
            }),
          )
        }
      >
        <Label className="visually-hidden">{label}</Label>
        <SliderTrack className={styles.track ?? ''}>
          {moments.map((moment, index) => (
            <SliderThumb
              key={moment.label}
              index={index}
              aria-label={moment.label}
              className={styles.thumb ?? ''}
            />
          ))}
        </SliderTrack>
      </Slider>
      <div className={styles.momentFields}>
        {moments.map((moment, index) => {
          const draggedAt = dragged?.[index]
          const isDragged = draggedAt !== undefined && draggedAt !== stored[index]
          const value = isDragged ? momentAt(draggedAt, moment) : moment.value
          const isTime = value !== undefined && !isPosition(value)
          return (
            <div key={moment.label} className={styles.moment}>
              <TextField
                label={moment.label}
                type="datetime-local"
                value={isTime ? toLocal(value) : ''}
                onChange={(local) => set(index, fromLocal(local))}
                description={wordsFor({ ...moment, value })}
              />
              {moment.value !== undefined && (
                <Button kind="quiet" onPress={() => set(index, undefined)}>
                  {moment.otherwise === 'now' ? 'Now' : 'Beginning'}
                </Button>
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}
