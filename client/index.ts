/** The venue's client: sign orders, talk REST, follow the feed. Works in Node and in browsers; needs viem. */
export * from './local-book.js'
export * from './records.js'
export * from './rest.js'
export * from './sign-cancel.js'
export * from './sign-frame.js'
export * from './sign-order.js'
export * from './socket.js'
