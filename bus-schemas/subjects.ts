/** Stream names and subjects: the only file that spells them. Client-chosen text never enters a subject. */

/** Command log of a market: everything that changes it, in order. */
export const commandsStream = (market: string): string => `COMMANDS_${market}`
export const commandsSubject = (market: string): string => `commands.${market}`

/** Feed of a market: the blocks of changes its matcher made. */
export const feedStream = (market: string): string => `FEED_${market}`
export const feedSubject = (market: string): string => `feed.${market}`

/** Requests with an answer; no stream captures them. */
export const askPlaceOrder = 'ask.order.place'
export const askCancelOrder = 'ask.order.cancel'
/** Auth frames that opened a socket: a nonce opens one once. */
export const socketNonces = 'socket_nonces'
/** A bucket of claims, as the server's key-value tools name it, and one claim in it. */
export const claimsStream = (bucket: string): string => `KV_${bucket}`
export const claimsSubject = (bucket: string): string => claimSubject(bucket, '>')
export const claimSubject = (bucket: string, key: string): string => `$KV.${bucket}.${key}`
/** Every process answers here whether it is ready: `ask.ping.<process>`, a matcher as `matcher-<market>`. */
export const askPing = (process: string): string => `ask.ping.${process}`
