import { isDeepStrictEqual } from 'node:util'
import { ModelFault, type ToolCall } from '../../ports/model.ts'
import { beginsValue, jsonEnd } from '../../support/json-end.ts'
import { wellFormedJson } from '../../support/well-formed.ts'

/** A piece of a tool call. Fields that a provider leaves out are empty. */
export type CallPiece = {
  index?: number | undefined
  id: string
  name: string
  arguments: string
}

type PartialCall = ToolCall & {
  /** Its arguments are a whole JSON value. */
  isWhole: boolean
  /** A value behind another one, without the name again. */
  isUnnamed: boolean
  end: ReturnType<typeof jsonEnd>
}

/** As many as the protocol's indices allow. */
const mostCalls = 128

const noArguments = /^\s*(?:null)?\s*$/

/** Arguments as JSON: a tool without any is called with an empty object. */
export const callArguments = (text: string): string => (noArguments.test(text) ? '{}' : text)

/** Replaces half surrogate pairs, which UTF-8 cannot encode. */
const wellFormed = (text: string): string => text.toWellFormed()

/** Whether a piece at the place of a call begins another call. */
const beginsAnother = (call: PartialCall, { id, name }: CallPiece): boolean => {
  if (name === '' || call.name === '') return false
  if (name !== call.name) return true
  const isAnother = id !== '' && call.id !== '' && id !== call.id
  // Some providers give each piece of a call an id of its own.
  return isAnother && (call.isWhole || call.arguments === '')
}

/** Some providers send an empty object in front of the arguments. */
const isPlaceholder = (call: PartialCall, { name }: CallPiece): boolean =>
  name === '' && /^\s*\{\s*\}\s*$/.test(call.arguments)

const sameJson = (text: string, other: string): boolean => {
  try {
    return isDeepStrictEqual(JSON.parse(text), JSON.parse(other))
  } catch {
    return false
  }
}

/** Some servers send the arguments once more when a call ends. */
const isRepetition = (call: PartialCall, before: PartialCall | undefined): boolean =>
  before !== undefined && call.isUnnamed && sameJson(call.arguments, before.arguments)

/**
 * Assembles tool calls from their pieces, by the index of a piece or its place in the chunk. Some
 * providers number all calls 0, with equal ids or none: there a new name begins a call, and so does
 * a value behind a complete one.
 */
export const callAssembly = () => {
  const calls: PartialCall[] = []
  const places = new Map<number, PartialCall>()

  const addCall = (place: number, id: string, name: string, isUnnamed = false): PartialCall => {
    if (calls.length === mostCalls)
      throw new ModelFault(`the model provider sent over ${mostCalls} calls`)
    const call = { id, name, arguments: '', isWhole: false, isUnnamed, end: jsonEnd() }
    calls.push(call)
    places.set(place, call)
    return call
  }

  return {
    add(piece: CallPiece, position: number): void {
      const place = piece.index ?? position
      const known = places.get(place)
      let call =
        known && !beginsAnother(known, piece) ? known : addCall(place, piece.id, piece.name)
      call.id ||= piece.id
      call.name ||= piece.name
      let rest = piece.arguments
      while (rest !== '') {
        if (call.isWhole && beginsValue(rest)) {
          if (isPlaceholder(call, piece))
            Object.assign(call, { arguments: '', isWhole: false, end: jsonEnd() })
          else call = addCall(place, piece.id, call.name, piece.name === '')
        }
        const length = call.end(rest)
        if (length !== -1) call.isWhole = true
        call.arguments += length === -1 ? rest : rest.slice(0, length)
        rest = length === -1 ? '' : rest.slice(length)
      }
    },
    /** The complete calls; one without an id gets its place in the answer. */
    all: (): ToolCall[] =>
      calls
        .filter((call, n) => !isRepetition(call, calls[n - 1]))
        .map((call, n) => {
          if (call.name === '')
            throw new ModelFault('the model provider sent a call without a name')
          return {
            id: wellFormed(call.id) || `call_${n}`,
            name: wellFormed(call.name),
            arguments: wellFormedJson(callArguments(call.arguments)),
          }
        }),
    /** As far as they came. */
    partial: (): readonly ToolCall[] => calls,
    areWhole: (): boolean =>
      calls.every((call) => call.isWhole || noArguments.test(call.arguments)),
  }
}
