export type JsonChange =
  | { kind: 'added'; path: string; after: unknown }
  | { kind: 'removed'; path: string; before: unknown }
  | { kind: 'changed'; path: string; before: unknown; after: unknown }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isPlainName = /^[A-Za-z_$][\w$]*$/

const inside = (path: string, name: string): string => {
  if (!isPlainName.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

/** An absent member differs from one that is null. */
const memberChanges = (
  path: string,
  before: unknown,
  after: unknown,
  exists: readonly [boolean, boolean],
): JsonChange[] => {
  if (!exists[0]) return [{ kind: 'added', path, after }]
  if (!exists[1]) return [{ kind: 'removed', path, before }]
  return jsonChanges(before, after, path)
}

/**
 * The differences of two JSON values by path, in the order of the members: `tools[2].name`. Items
 * of lists are compared by their places.
 */
export const jsonChanges = (before: unknown, after: unknown, path = ''): JsonChange[] => {
  if (Object.is(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after))
    return Array.from({ length: Math.max(before.length, after.length) }, (_, index) =>
      memberChanges(`${path}[${index}]`, before[index], after[index], [
        index < before.length,
        index < after.length,
      ]),
    ).flat()
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return names.flatMap((name) =>
      memberChanges(inside(path, name), before[name], after[name], [
        Object.hasOwn(before, name),
        Object.hasOwn(after, name),
      ]),
    )
  }
  return [{ kind: 'changed', path, before, after }]
}
