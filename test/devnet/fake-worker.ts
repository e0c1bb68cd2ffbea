import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fakeWorkerConfig } from '../support/config.js'

/**
 * A stand-in for a process of the Procfile: `node fake-worker.js <name> [crash|stubborn|unready]`. The gateway answers
 * /readyz with 200, or 503 when unready. Each appends its end to `DATA_DIR/ends.log`, so that a test sees the order of a shutdown.
 */
const [name = '', habit] = process.argv.slice(2)
const { dataDir, gatewayPort, environment } = fakeWorkerConfig()

if (habit === 'crash') {
  process.stderr.write('this one always crashes\n')
  process.exit(3)
}
appendFileSync(join(dataDir, `${name}.env`), JSON.stringify(environment))
if (name === 'gateway')
  createServer((_, response) => {
    response.statusCode = habit === 'unready' ? 503 : 200
    response.end(habit ?? 'ready')
  }).listen(gatewayPort, '127.0.0.1')
process.on('SIGTERM', () => {
  if (habit === 'stubborn') return
  appendFileSync(join(dataDir, 'ends.log'), `${name}\n`)
  process.exit(0)
})
setInterval(() => {}, 60_000)
