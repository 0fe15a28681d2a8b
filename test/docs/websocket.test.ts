import { readFileSync } from 'node:fs'
import t from 'tap'
import type { z } from 'zod'
import { incoming, outgoing } from '../../src/http/ws/frames.ts'

const text = readFileSync(new URL('../../../docs/contract/websocket.md', import.meta.url), 'utf8')

const section = (title: string): string => text.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? ''

/** Rows of a table of frames: type, then its fields, optional ones with a question mark. */
const documented = (title: string) =>
  [...section(title).matchAll(/^\| `(?<type>\w+)` \| (?<fields>[^|]*)\|/gm)].map(({ groups }) => [
    groups?.type,
    [...(groups?.fields?.matchAll(/`([^`]+)`/g) ?? [])].map(([, field]) => field),
  ])

const fieldsOf = (schemas: Record<string, z.ZodObject>) =>
  Object.entries(schemas).map(([type, { shape }]) => [
    type,
    Object.entries(shape).map(([name, field]) =>
      (field as z.ZodType).safeParse(undefined).success ? `${name}?` : name,
    ),
  ])

const byType = (rows: unknown[][]) => Object.fromEntries(rows)

t.test('docs/contract/websocket.md has every frame with its fields, and no other', async (t) => {
  t.strictSame(byType(documented('Frames you send')), byType(fieldsOf(incoming)))
  t.strictSame(byType(documented('Frames you receive')), byType(fieldsOf(outgoing)))
})

t.test('its conversations are made of such frames', async (t) => {
  const lines = [...text.matchAll(/^(→|←) (\{.*\})$/gm)]
  t.ok(lines.length > 15)
  for (const [, side, json = ''] of lines) {
    const { type, id, session_id, ...fields } = JSON.parse(json)
    const schemas: Record<string, z.ZodObject> = side === '→' ? incoming : outgoing
    const refused = type === 'mesage'
    t.equal(type in schemas, !refused, json)
    if (refused) continue
    const sent = type === 'message' ? fields : schemas[type]?.parse(fields)
    t.strictSame({ ...fields, ...sent }, fields)
  }
})
