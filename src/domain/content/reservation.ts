const pattern = /^content:(?<contentId>.+):\d+$/

/** What one generation of an item is held back and charged under. */
export const reservationOf = (contentId: string, attempt: number): string =>
  `content:${contentId}:${attempt}`

/** The item that a reservation is for; undefined: it is a run's. */
export const reservedContentOf = (reservation: string): string | undefined =>
  reservation.match(pattern)?.groups?.contentId
