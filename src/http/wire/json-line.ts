/** JSON as it is answered: it ends its line, so that a terminal's next prompt begins one. */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`
