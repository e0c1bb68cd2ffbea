import type { PrivateKeyAccount } from 'viem/accounts'
import { frameHeader, signFrame, type RestClient, type VenueDomain } from '../client/index.js'

/** Whom the tools act for, and the key that signs. */
export interface Owner {
  readonly signer: PrivateKeyAccount
  readonly address: `0x${string}`
  readonly domain: VenueDomain
  /** `X-Service-Auth` of private reads, signed anew before the last one ends. Throws VenueError. */
  readonly frame: () => Promise<string>
}

const VALID_SEC = 240
/** A frame is not sent in its last seconds. */
const RENEW_SEC = 60

/** The owner of a key, or the one whose session key it is. Times are the venue's. Throws VenueError. */
export async function openOwner(
  signer: PrivateKeyAccount,
  address: `0x${string}` | undefined,
  venue: RestClient,
): Promise<Owner> {
  const domain = await venue.domain()
  const owner = address ?? signer.address
  let last: { readonly header: string; readonly expiry: number } | undefined
  return {
    signer,
    domain,
    address: owner,
    async frame() {
      const issuedAtSec = await nowSec(venue)
      if (last === undefined || last.expiry - RENEW_SEC <= issuedAtSec) {
        const times = { issuedAtSec, validSec: VALID_SEC }
        const purpose = 'history'
        const signed = await signFrame(signer, { purpose, owner, ...domain.frames, ...times })
        last = { header: frameHeader(signed), expiry: signed.expiry }
      }
      return last.header
    },
  }
}

/** Unix seconds of the venue. */
export const nowSec = async (venue: RestClient): Promise<number> =>
  Math.floor((await venue.time()).unix_ms / 1_000)
