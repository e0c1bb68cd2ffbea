import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { inProject } from '../devnet/launcher/binaries.js'
import { readPage } from './support/page-commands.js'

const WALK = 'test/e2e/go-live.test.ts'
const CHECK = 'test/go-live-page.test.ts'
const LISTS = 'test/operating-samples.test.ts'
const EVERY_VENUE = 'every test that starts a venue'
const SUITE = 'each run of the suite'
const NO_SYSTEMD =
  'needs systemd as the first process; test/operating-samples.test.ts reads the units'

/** Where each command that a page tells an operator is run, by a file of tests, or why it is not. */
const RUN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/GO-LIVE.md': {
    './venue check-deployment': CHECK,
    './venue bus-users': CHECK,
    './venue deploy batch-executor': WALK,
    'systemd-sysusers': LISTS,
    'systemd-tmpfiles --create': LISTS,
    'docker build': 'needs a Docker server; test/dockerfile.test.ts reads its lines',
    'openssl rand': CHECK,
    'nats-server --signal reload': WALK,
    'set -a': WALK,
    './venue status': WALK,
    './venue audit': WALK,
    './venue market': WALK,
    './venue rotate-key': 'test/e2e/rotate-key.test.ts',
    './venue up': EVERY_VENUE,
    './venue test': SUITE,
    'systemctl daemon-reload': NO_SYSTEMD,
    'systemctl enable': NO_SYSTEMD,
    'systemctl kill':
      'needs systemd as the first process; test/e2e/metrics.test.ts stops processes',
  },
  'docs/GO-LIVE-CONTRACTS.md': {
    './venue deploy batch-executor': WALK,
    './venue check-deployment': WALK,
  },
  'docs/BACKUP.md': {
    'age-keygen':
      'a program of others, which is not installed everywhere; the tests make such keys',
    './venue backup': WALK,
    './venue restore': WALK,
    'docs/operating/restore-register.sh': WALK,
    'set -a': WALK,
    'systemd-tmpfiles --create': LISTS,
    './venue up': EVERY_VENUE,
    './venue audit': WALK,
    './venue market pause': WALK,
    './venue market accept-gap': WALK,
    './venue market add': WALK,
    './venue market list': WALK,
    'sqlite3 history.db': 'a program of others, which is not installed everywhere',
  },
  'docs/OPERATING.md': {
    './venue market': WALK,
    './venue status': WALK,
    './venue inspect': WALK,
    './venue audit': WALK,
    './venue backup': WALK,
    './venue restore': WALK,
    './venue check-deployment': CHECK,
    './venue deploy batch-executor': WALK,
    './venue bus-users': CHECK,
    './venue logs': 'test/devnet/help.test.ts',
    './venue rotate-key': 'test/e2e/rotate-key.test.ts',
    './venue accept-foreign': 'test/actors/operator/accept-foreign.test.ts',
    './venue bus-replicas': 'test/e2e/three-machines.test.ts',
    './venue export': 'test/actors/operator/export-day.test.ts',
    './venue up': EVERY_VENUE,
    './venue down': 'test/devnet/down.test.ts',
    './venue run': WALK,
    './venue test': SUITE,
    './venue reset': 'test/devnet/reset.test.ts',
    './venue series': 'test/devnet/next-series.test.ts',
  },
  'docs/FUTURES.md': {
    './venue market': WALK,
    './venue up': EVERY_VENUE,
  },
}

describe('the commands that the pages tell an operator', () => {
  for (const [path, known] of Object.entries(RUN))
    it(`of ${path} are run by a test, or a reason is named`, () => {
      const commands = readPage(path).commands()
      const beginnings = Object.keys(known)
      const tried = (command: string) => beginnings.some((each) => command.startsWith(each))
      expect(commands.filter((command) => !tried(command))).to.deep.equal([])
      const isTold = (each: string) => commands.some((command) => command.startsWith(each))
      expect(beginnings.filter((each) => !isTold(each))).to.deep.equal([])
      const files = Object.values(known).filter((where) => /^test\/\S+$/.test(where))
      expect(files.filter((file) => !existsSync(inProject(file)))).to.deep.equal([])
    })
})
