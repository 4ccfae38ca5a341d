// Puts a blob of three parts: argv is the options of s3Blobs.
import { s3Blobs } from '@turnpike/storage/s3'

const blobs = s3Blobs({ ...JSON.parse(process.argv[2]), partBytes: 5 * 2 ** 20 })
await blobs.put('key', Buffer.alloc(11 * 2 ** 20, 'new'), { type: 'text/plain', maxBytes: 2 ** 30 })
