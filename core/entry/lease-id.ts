/** The lease of a socket, as the fan-out names it. */
const LEASE_ID = /^[0-9a-f]{32}$/

export const isLeaseId = (value: unknown): value is string =>
  typeof value === 'string' && LEASE_ID.test(value)
