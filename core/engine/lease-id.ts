/** Length of the id of a lease. What a socket is given is longer where it holds a part of one. */
export const LEASE_ID_LENGTH = 32

/** The lease that an order names: what comes after its id tells the part of one socket from those of others. */
export const leaseOf = (leaseId: string): string => leaseId.slice(0, LEASE_ID_LENGTH)
