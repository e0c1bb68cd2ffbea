import pino from 'pino'
import { relayUpgrades } from '../api-gateway/ws-upgrade.js'
import { createHttpServer, listen } from '../runtime/http/server.js'

/** The relay of a gateway that answers nothing else. Argument: the fan-out's port. Sends its own port to its parent. */
const [fanOutPort = ''] = process.argv.slice(2)
const server = createHttpServer((_request, response) => void response.end())
const fanoutUrls = [new URL(`ws://127.0.0.1:${fanOutPort}`)]
relayUpgrades({ server, fanoutUrls, trustedProxies: 0, log: pino({ level: 'silent' }) })
process.send?.(await listen(server, 0, '127.0.0.1'))
process.once('disconnect', () => process.exit(0))
