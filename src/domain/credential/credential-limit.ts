/** How many credentials one user has in one organization. */
export const credentialLimit = 100
