import { expect } from 'chai'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SESSION_LIMITS } from '../actors/ws-fanout/limits.js'
import { KEEP_ALIVE_MS } from '../runtime/http/server.js'
import { eventually } from './support/eventually.js'
import { startRig, type FanOutRig } from './support/fan-out-rig.js'
import { freePort } from './support/free-port.js'
import { aGatewayStage, type GatewayStage } from './support/gateway-stage.js'
import { connectSocket } from './support/socket-client.js'
import { tempDir } from './support/temp-dir.js'

/** The first nginx that runs; Debian keeps it where not every user's PATH looks. */
const NGINX = ['nginx', '/usr/sbin/nginx'].find(
  (program) => spawnSync(program, ['-v'], { stdio: 'ignore' }).status === 0,
)

describe('docs/nginx.conf', () => {
  it('gives an idle connection up before the gateway closes it', () => {
    const sample = readFileSync(new URL('../../docs/nginx.conf', import.meta.url), 'utf8')
    const reused = /upstream gateway \{[^}]*keepalive_timeout (\d+)s;/.exec(sample)?.[1]
    expect(Number(reused) * 1_000).to.be.within(1_000, KEEP_ALIVE_MS - 5_000)
  })

  // Without a body the runner lists it as pending.
  if (NGINX === undefined) it('is not tried: nginx is not installed')
  else tryWith(NGINX)
})

function tryWith(nginx: string): void {
  describe('in front of a gateway and a fan-out', function () {
    const dir = tempDir()
    let port: number
    let proxy: ChildProcess | undefined
    let gateway: GatewayStage
    let rig: FanOutRig

    before(async () => {
      // Each with a bound of one, so that a client's address is seen.
      gateway = await aGatewayStage({ trustedProxies: 1, largeReads: { maxPerAddress: 1 } })
      rig = await startRig({ limits: { ...SESSION_LIMITS, maxSocketsPerAddress: 1 } })
      await eventually(() => rig.fanOut().standing().ready)
      port = await freePort()
      const file = join(dir.path, 'nginx.conf')
      writeFileSync(file, ownConfig())
      mkdirSync(join(dir.path, 'temp'))
      const own = `daemon off; master_process off; error_log stderr; pid ${dir.path}/nginx.pid;`
      proxy = spawn(nginx, ['-p', dir.path, '-c', file, '-g', own], { stdio: 'ignore' })
      await eventually(async () => (await fetch(`http://127.0.0.1:${port}/v1/time`)).ok)
    })
    after(async () => {
      if (proxy !== undefined && proxy.exitCode === null) {
        const exited = once(proxy, 'exit')
        proxy.kill('SIGKILL')
        await exited
      }
      await rig?.end()
      await gateway?.close()
      dir.remove()
    })

    /** The sample with the ports of this test, and with temporary files where any user may write. */
    function ownConfig(): string {
      const sample = readFileSync(new URL('../../docs/nginx.conf', import.meta.url), 'utf8')
      const changes: [string, string][] = [
        ['127.0.0.1:8080', `127.0.0.1:${gateway.port}`],
        ['127.0.0.1:8082', `127.0.0.1:${rig.fanOut().port}`],
        ['listen 80;', `listen 127.0.0.1:${port};`],
        ['worker_rlimit_nofile 65536;', ''],
        ['worker_connections 32768;', 'worker_connections 256;'],
        ['http {', `http {\n${TEMP_PATHS}`],
      ]
      return changes.reduce((text, [from, to]) => {
        expect(text, 'the sample').to.contain(from)
        return text.replace(from, to)
      }, sample)
    }

    it('passes requests to the gateway, with the client’s address', async () => {
      const forged = (n: number) => ({
        'X-Forwarded-For': `203.0.113.${n}`,
        'X-Request-Id': `r-${n}`,
      })
      const read = await fetch(`http://127.0.0.1:${port}/v1/book?symbol=cNGN-USDC`, {
        headers: forged(1),
      })
      expect([read.status, read.headers.get('x-request-id')]).to.deep.equal([200, 'r-1'])
      gateway.answerWith({ kind: 'refused', refusal: { code: 'x', status: 400, message: 'no' } })
      const body = JSON.stringify({ order_id: 'order-1' })
      const placed = await fetch(`http://127.0.0.1:${port}/v1/orders`, { method: 'POST', body })
      expect([placed.status, gateway.asked.map((asked) => asked.body)]).to.deep.equal([400, [body]])
    })

    it('passes sockets to the fan-out itself, whatever address the client writes', async () => {
      const socketFrom = (address: string) =>
        connectSocket(`ws://127.0.0.1:${port}/v1/ws`, { headers: { 'X-Forwarded-For': address } })
      const first = await socketFrom('203.0.113.1')
      // The same address once more would be refused if it counted.
      const second = await socketFrom('203.0.113.1')
      expect(rig.fanOut().clients()).to.equal(2)
      for (const client of [first, second]) {
        client.send({ op: 'subscribe', channel: 'book', market: 'cNGN-USDC' })
        await client.next(({ type }) => type === 'snapshot')
      }
      first.ws.close(1000)
      await eventually(() => rig.fanOut().clients() === 1)
      second.send('not json')
      await second.next(({ code }) => code === 'bad_json')
    })

    it('passes on what the fan-out refuses, and how it closes', async () => {
      const plain = await fetch(`http://127.0.0.1:${port}/v1/ws`)
      expect([plain.status, ((await plain.json()) as { code: string }).code]).to.deep.equal([
        ...[426, 'upgrade_required'],
      ])
      const client = await connectSocket(`ws://127.0.0.1:${port}/v1/ws`)
      await rig.restart()
      expect(await client.closed).to.equal(1001)
    })
  })
}

const TEMP_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((name) => `${name}_temp_path temp/${name};`)
  .join('\n')
