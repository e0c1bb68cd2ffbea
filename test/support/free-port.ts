export { freePort } from '../../devnet/launcher/free-port.js'
