const length = 8

/** The end of an id: ids begin with a time, so those of one day begin alike. */
export const shortId = (id: string): string => (id.length > length ? `…${id.slice(-length)}` : id)
