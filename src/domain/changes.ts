/** Fields to change, as zod's `partial()` types them: one that is undefined is not named. */
export type Change<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined }

/** What a change names and what differs from the fields as they are. */
export const differing = <Fields extends object>(
  fields: Fields,
  change: Change<Fields>,
): Partial<Fields> =>
  Object.fromEntries(
    Object.entries(change).filter(
      ([name, value]) =>
        value !== undefined &&
        JSON.stringify(value) !== JSON.stringify(fields[name as keyof Fields]),
    ),
  ) as Partial<Fields>

export const changed = <Fields extends object>(fields: Fields, change: Change<Fields>): Fields => ({
  ...fields,
  ...differing(fields, change),
})
