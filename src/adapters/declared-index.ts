import type { Index, Scalar } from '../ports/views.ts'

/** The index that a query names. @throws TypeError: it is not declared, or has other values */
export const declaredIndex = <Declared extends Index>(
  indexes: Readonly<Record<string, Declared>>,
  name: string,
  equals: readonly Scalar[],
): Declared => {
  const index = indexes[name]
  if (!index) throw new TypeError(`no index is called ${name}`)
  if (index.equals.length !== equals.length)
    throw new TypeError(`${name} is asked by ${index.equals.join(', ')}`)
  return index
}
