import type { BlobStore } from '@turnpike/core'
import type { StoredFile } from './stored-files.js'

/** An upload whose bytes are stored, as an upload check gets it. */
export type CheckedUpload = Readonly<Omit<StoredFile, 'held' | 'deleted_at'>> & {
  /** Its bytes, which can be read several times. */
  read(): AsyncIterable<Uint8Array>
}

/** What an upload check says: whether a file is accepted, held back until `files.release`, or refused for a reason. */
export type UploadVerdict = 'accept' | 'hold' | { refuse: string }

/** Checks each upload before it has a record, such as by a virus scanner. It judges bytes: a name may change later. An error refuses the upload with 500. */
export type UploadCheck = (upload: CheckedUpload) => Promise<UploadVerdict> | UploadVerdict

/** Options of the files of users. */
export interface FilesOptions {
  /** Where the bytes are, such as `unstorageBlobs(durableFs({ base: './files' }))` or `s3Blobs({ … })`. */
  blobs: BlobStore
  /**
   * Secrets of at least 32 characters that the URLs of private files are signed with: the first one signs, all verify. To change it, put the new one
   * first, and leave the old one for an hour. Default one that is made once and kept in the store.
   */
  secrets?: readonly string[]
  /** Where clients reach the platform, such as `https://app.example`; default the origin that they call. */
  baseUrl?: string
  /** What public URLs begin with, such as `https://cdn.example/files` of a CDN in front; default `<baseUrl>/api/user-files`. */
  publicBase?: string
  /**
   * Whether URLs of private files lead to the blob store itself, if it has such URLs: its bytes need not pass through this process, but a URL is valid
   * until it expires even where the file is deleted. Default false.
   */
  directUrls?: boolean
  /** Seconds for which a URL of a private file is valid at least; default 3,600. With `directUrls` on S3, 604,800 (7 days) at most. */
  urlSeconds?: number
  /** Bytes of one file; default 1 GB. */
  maxBytes?: number
  /** Days for which files stay in the trash; default 30. */
  trashDays?: number
  /** Checks each upload, such as for viruses; default all are accepted. */
  check?: UploadCheck
}
