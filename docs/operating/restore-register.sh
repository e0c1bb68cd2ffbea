#!/bin/sh
# Puts the stream MARKETS back from the backup in BACKUP, with the identity in IDENTITY, and prints its state; docs/BACKUP.md says
# when. Run it with the operator's settings of the bus.
set -eu
cd "$(dirname "$0")/../.."
exec node --input-type=module -e "
import { readManifest } from './dist/actors/operator/backup/manifest.js'
import { openOpener, openedFile } from './dist/actors/operator/backup/sealed-files.js'
import { openStreamCopies } from './dist/runtime/bus/nats-copies.js'
const { BACKUP, IDENTITY, NATS_URL: url, NATS_CREDENTIALS: credentials, NATS_CA_FILE: caFile } = process.env
const part = (await readManifest(BACKUP)).parts.find(({ name }) => name === 'MARKETS')
const copies = await openStreamCopies({ url, credentials, tls: { caFile }, user: 'operator', name: 'restore' })
const opener = await openOpener({ identityFile: IDENTITY }, BACKUP)
console.log((await copies.restore('MARKETS', part.stream, openedFile(opener, BACKUP, part))).state)
await copies.close()"
