import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format } from 'prettier'
import { JOURNAL_OWNERS } from '../core/transaction-journal.js'
import { parseProcfile } from '../devnet/launcher/procfile.js'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const SAMPLES = 'docs/operating'
const SYSTEMD = `${SAMPLES}/systemd`

/** `NAME=value` lines. */
const settingsIn = (text: string): Map<string, string> =>
  new Map(
    [...text.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  )

/** The processes of the Procfile; `matchers` is one line there. */
const PROCESSES = [...read('Procfile').matchAll(/^([a-z-]+):/gm)].map(([, name = '']) => name)

/** Without one of these a process could do more to the machine than it needs. */
const HARDENED = [
  ...['NoNewPrivileges=yes', 'CapabilityBoundingSet=', 'PrivateTmp=yes', 'PrivateDevices=yes'],
  ...[
    'ProtectSystem=strict',
    'ProtectHome=yes',
    'ProtectKernelTunables=yes',
    'RestrictNamespaces=yes',
  ],
  ...[
    'RestrictSUIDSGID=yes',
    'LockPersonality=yes',
    'SystemCallFilter=@system-service',
    'UMask=0077',
  ],
]

describe('samples of a venue that trades for real', () => {
  const production = settingsIn(read(`${SAMPLES}/production.env`))

  it('sets only what .env.example knows, every safe value, and no key or secret', () => {
    const known = new Set([...settingsIn(read('.env.example')).keys(), 'NODE_ENV'])
    expect([...production.keys()].filter((name) => !known.has(name))).to.deep.equal([])
    expect([...production.keys()].filter((name) => /KEY|SECRET|PASSWORD/.test(name))).to.deep.equal(
      [],
    )
    expect(production.get('CANCEL_AUTH')).to.equal('required')
    const hosts = [...production].filter(([name]) => name.endsWith('_HOST'))
    expect(hosts.length).to.be.at.least(4)
    for (const [name, host] of hosts) expect(host, name).to.equal('127.0.0.1')
  })

  it('has the shipped markets, each with a least notional', () => {
    const rowsOf = (path: string) => JSON.parse(read(path)) as Record<string, unknown>[]
    const sample = rowsOf(`${SAMPLES}/markets.json`)
    for (const row of sample) expect(Number(row.min_notional)).to.be.above(0)
    const shipped = rowsOf('data/markets.json')
    expect(
      shipped.map((row, i) => ({ ...row, min_notional: sample[i]?.min_notional })),
    ).to.deep.equal(sample)
  })

  it('has the key of each process that signs in a file, and none in the environment', () => {
    const comments = read(`${SAMPLES}/production.env`)
    for (const process of JOURNAL_OWNERS) {
      const setting = `${process.replaceAll('-', '_').toUpperCase()}_KEY_FILE=/etc/venue/keys/${process}`
      expect(comments, process).to.include(`/etc/venue/${process}.env`).and.include(setting)
    }
    // What a comment says of a process's own settings, its container reads.
    const containers = read(`${SAMPLES}/compose.yaml`).split(/^ {2}(?=[a-z-]+:)/m)
    const owns = [...comments.matchAll(/^# {3}\/etc\/venue\/([a-z-]+)\.env/gm)].map(
      ([, name]) => name,
    )
    expect(owns).to.include.members([...JOURNAL_OWNERS, 'order-intake'])
    for (const name of owns) {
      const own = containers.find((each) => each.startsWith(`${name}:`))
      expect(own, name).to.include(`/etc/venue/${name}.env`)
    }
    expect(read(`${SYSTEMD}/venue@.service`)).to.include('EnvironmentFile=-/etc/venue/%i.env')
    const files = readdirSync(new URL(SAMPLES, root), { recursive: true, withFileTypes: true })
    const samples = files.filter((each) => each.isFile())
    expect(samples.length).to.be.above(8)
    const texts = samples.map(({ parentPath, name }) =>
      readFileSync(join(parentPath, name), 'utf8'),
    )
    const pages = ['docs/GO-LIVE.md', 'docs/OPERATING.md', 'docs/THREE-MACHINES.md', 'README.md']
    for (const text of [...texts, ...pages.map(read)]) expect(text).to.not.match(/_PRIVATE_KEY/)
  })

  it('has a hardened unit for the processes and for the bus, and a target that wants each process', () => {
    for (const unit of ['venue@.service', 'venue-nats.service']) {
      const lines = read(`${SYSTEMD}/${unit}`).split('\n')
      expect(lines, unit).to.include.members(HARDENED)
    }
    const wanted = [...read(`${SYSTEMD}/venue.target`).matchAll(/venue@([a-z-]+)\.service/g)]
    expect(wanted.map(([, name]) => name).toSorted()).to.deep.equal(PROCESSES.toSorted())
  })

  it('has a container for the bus and for each process, which runs what the unit runs', async () => {
    const compose = read(`${SAMPLES}/compose.yaml`)
    // Throws unless it is YAML.
    await format(compose, { parser: 'yaml' })
    const run = [...compose.matchAll(/^ {4}command: \['([a-z-]+)'\]/gm)]
    expect(run.map(([, name]) => name).toSorted()).to.deep.equal(PROCESSES.toSorted())
    expect(compose).to.include(
      "['/opt/venue/.tools/nats-server', '--config', '/etc/venue/nats-server.conf']",
    )
    for (const setting of ['read_only: true', "cap_drop: ['ALL']", 'no-new-privileges:true'])
      expect(compose).to.include(setting)
  })

  /** Kind, name and number, or user and group, of each line of the users' list. */
  const users = read(`${SAMPLES}/sysusers.conf`)
    .split('\n')
    .filter((line) => /^[gum] /.test(line))
    .map((line) => line.split(' '))
  const idOf = (name: string) =>
    users.find(([kind, of]) => kind !== 'm' && of === name)?.[2] ?? `no id of ${name}`
  const groupsOf = (user: string) =>
    users.flatMap(([kind, of, group = '']) => (kind === 'm' && of === user ? [idOf(group)] : []))
  /** The services of the Compose file, each with its text. */
  const services = new Map(
    (read(`${SAMPLES}/compose.yaml`).split(/^services:\n/m)[1] ?? '')
      .split(/^ {2}(?=[a-z-]+:\n)/m)
      .filter((text) => text !== '')
      .map((text) => [/^[a-z-]+/.exec(text)?.[0] ?? '', text]),
  )

  it('runs each process as a user of its own, which the units and the containers have alike', () => {
    const named = [...PROCESSES, 'nats'].map((name) => `venue-${name}`)
    const made = users.flatMap(([kind, name = '']) => (kind === 'u' ? [name] : []))
    expect(made.toSorted()).to.deep.equal(named.toSorted())
    expect(new Set(named.map(idOf)).size).to.equal(named.length)
    const unit = read(`${SYSTEMD}/venue@.service`).split('\n')
    expect(unit).to.include.members([
      'User=venue-%i',
      'Group=venue-%i',
      'RestartPreventExitStatus=78',
    ])
    expect(read(`${SYSTEMD}/venue-nats.service`)).to.include('User=venue-nats\n')
    for (const name of [...PROCESSES, 'nats']) {
      const text = services.get(name) ?? ''
      const id = idOf(`venue-${name}`)
      expect(text, name).to.include(`user: '${id}:${id}'`)
      const groups = /group_add: \[(.*)\]/.exec(text)?.[1]?.replaceAll("'", '').split(', ') ?? []
      expect(groups, name).to.deep.equal(groupsOf(`venue-${name}`))
    }
  })

  it('gives each container its own key, seed and directory, and of the others what is shared alone', () => {
    const shared = ['deployment.json', 'metrics', 'markets.json', 'nats-server.conf']
    for (const [name, text] of services) {
      const mounts = [...text.matchAll(/^ {6}- '([^:']+):([^:']+)(:ro)?'$/gm)]
      expect(mounts.length, name).to.be.above(2)
      for (const [, from = '', to, mode] of mounts) {
        expect(to, name).to.equal(from)
        if (from.startsWith('/etc/venue/')) expect(mode, `${name} ${from}`).to.equal(':ro')
        const of = from.split('/').at(-1) ?? ''
        const seed = name === 'matchers' ? 'matcher.nk' : `${name}.nk`
        const own = [name, seed, ...(name === 'nats' ? ['authorization.conf'] : [])]
        const read = name === 'gateway' ? ['projector'] : []
        // Those whose group may read the archive.
        const archive = groupsOf(`venue-${name}`).length > 1 ? ['feed-archive'] : []
        expect([...own, ...shared, ...read, ...archive], `${name} ${from}`).to.include(of)
      }
      expect(text, name).to.not.include('/etc/venue:').and.not.include('/var/lib/venue:')
      const keyed = new RegExp(`/etc/venue/keys/${name}\\b`).test(read(`${SAMPLES}/production.env`))
      expect(text.includes(`/etc/venue/keys/${name}:`), name).to.equal(keyed)
    }
  })

  it('names the release in the image and in what runs it', () => {
    const { version } = JSON.parse(read('package.json')) as { readonly version: string }
    const dockerfile = read('Dockerfile')
    expect(dockerfile).to.include(`org.opencontainers.image.version="${version}"`)
    for (const text of [dockerfile, read(`${SAMPLES}/compose.yaml`), read('docs/GO-LIVE.md')]) {
      const named = [...text.matchAll(/venue:(\d+\.\d+\.\d+)/g)].map(([, found]) => found)
      expect(new Set(named)).to.deep.equal(new Set([version]))
    }
  })

  const lister = spawnSync('systemd-tmpfiles', ['--version'], { stdio: 'ignore' }).status
  if (lister !== 0) it('has lists that systemd carries out: not tried, systemd is not installed')
  else
    it('has lists of users and directories that systemd carries out', () => {
      const place = mkdtempSync(join(tmpdir(), 'venue-lists-'))
      try {
        for (const list of ['sysusers', 'tmpfiles']) {
          mkdirSync(join(place, `etc/${list}.d`), { recursive: true })
          cpSync(new URL(`${SAMPLES}/${list}.conf`, root), join(place, `etc/${list}.d/venue.conf`))
        }
        mkdirSync(join(place, 'etc/venue/keys/executor'), { recursive: true })
        mkdirSync(join(place, 'etc/venue/bus'), { recursive: true })
        // As a restore by root leaves it.
        const archived = 'var/lib/venue/feed-archive/FEED_x'
        mkdirSync(join(place, archived), { recursive: true, mode: 0o700 })
        writeFileSync(join(place, archived, 'manifest.json'), '', { mode: 0o600 })
        for (const file of ['keys/executor/key', 'bus/matcher.nk', 'bus/operator.nk'])
          writeFileSync(join(place, 'etc/venue', file), '', { mode: 0o644 })
        for (const [command, ...args] of [
          ['systemd-sysusers'],
          ['systemd-tmpfiles', '--create', 'venue.conf'],
        ] as const) {
          const { status, stderr } = spawnSync(command, [`--root=${place}`, ...args], {
            encoding: 'utf8',
          })
          expect(status, stderr).to.equal(0)
        }
        const found = (path: string) => {
          const { mode, uid, gid } = statSync(join(place, path))
          return [mode & 0o7777, `${uid}`, `${gid}`]
        }
        const of = (name: string, group = name) => [idOf(`venue-${name}`), idOf(`venue-${group}`)]
        expect(found('var/lib/venue/executor')).to.deep.equal([0o700, ...of('executor')])
        expect(found('var/lib/venue/projector')).to.deep.equal([
          0o2770,
          ...of('projector', 'feeds'),
        ])
        const ofFeeds = of('projector', 'feeds')
        expect(found(archived)).to.deep.equal([0o2750, ...ofFeeds])
        expect(found(`${archived}/manifest.json`)).to.deep.equal([0o640, ...ofFeeds])
        expect(found('var/lib/venue/metrics')).to.deep.equal([0o3775, '0', idOf('venue')])
        expect(found('etc/venue/keys/executor/key')).to.deep.equal([0o600, ...of('executor')])
        expect(found('etc/venue/bus/matcher.nk')).to.deep.equal([0o600, ...of('matchers')])
      } finally {
        rmSync(place, { recursive: true })
      }
    })

  const verifier = spawnSync('systemd-analyze', ['--version'], { stdio: 'ignore' }).status
  // Without a body the runner lists it as pending.
  if (verifier !== 0) it('has units that systemd reads: not tried, systemd is not installed')
  else
    it('has units that systemd reads without a warning', () => {
      const dir = mkdtempSync(join(tmpdir(), 'venue-units-'))
      for (const unit of readdirSync(new URL(SYSTEMD, root))) {
        const text = read(`${SYSTEMD}/${unit}`).replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true')
        writeFileSync(join(dir, unit), text)
      }
      const units = ['venue@gateway.service', 'venue-nats.service', 'venue.target']
      const paths = units.map((unit) => join(dir, unit.replace('@gateway', '@')))
      const { stderr, stdout } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], {
        encoding: 'utf8',
      })
      const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('venue'))
      expect(ours).to.deep.equal([])
    })

  const hasDocker = spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0
  if (!hasDocker) it('has a Compose file that docker reads: not tried, docker is not installed')
  else
    it('has a Compose file that docker reads', () => {
      const file = join(mkdtempSync(join(tmpdir(), 'venue-compose-')), 'compose.yaml')
      writeFileSync(file, read(`${SAMPLES}/compose.yaml`).replaceAll(/^ *env_file:.*\n/gm, ''))
      const { status, stderr } = spawnSync('docker', ['compose', '-f', file, 'config', '-q'], {
        encoding: 'utf8',
      })
      expect(status, stderr).to.equal(0)
    })

  it('./venue run takes the names of the Procfile and no other', () => {
    expect(parseProcfile(read('Procfile'), { markets: ['A'], own: [] }).length).to.equal(
      PROCESSES.length,
    )
    for (const name of ['nothing', '.*', '']) {
      const { status, stderr } = spawnSync('./venue', ['run', name], {
        cwd: root,
        encoding: 'utf8' as const,
      })
      expect(status, name).to.equal(2)
      expect(stderr).to.equal(`venue: run takes the name of a process: ${PROCESSES.join(' ')} \n`)
    }
  })
})
