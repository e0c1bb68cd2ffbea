export { freePort } from '../../devnet/free-port.js'
