/** Length of the id of a lease. What a socket is given is longer where it holds a part of one. */
const LEASE_ID_LENGTH = 32
const PART_LENGTH = 8

/** The lease that an order names: what comes after its id tells the part of one socket from those of others. */
export const leaseOf = (leaseId: string): string => leaseId.slice(0, LEASE_ID_LENGTH)

/** The id of a part of a lease, of the numbers from 1 to 2^32 - 1. */
export const partOf = (leaseId: string, part: number): string =>
  leaseId + part.toString(16).padStart(PART_LENGTH, '0')
