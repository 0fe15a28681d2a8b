import { z } from 'zod'
import type { RecordedEvent } from '../../ports/event-store.ts'
import { linesIn } from '../../support/lines.ts'
import { CommandFailed } from '../command-failed.ts'
import { headerOf, tileOf } from './export-file.ts'

const isEvent = z.custom<RecordedEvent>(
  (value) => z.looseObject({ stream: z.string() }).safeParse(value).success,
)

/** The events of an export, many at a time, sealed as they are stored. @throws CommandFailed */
export async function* eventsIn(path: string): AsyncGenerator<readonly RecordedEvent[]> {
  let first = true
  for await (const lines of linesIn(path)) {
    const events: RecordedEvent[] = []
    for (const line of lines) {
      if (first && !headerOf(line)) throw new CommandFailed(`${path} is no export`)
      if (!first && !tileOf(line)) events.push(isEvent.parse(JSON.parse(line)))
      first = false
    }
    yield events
  }
}
