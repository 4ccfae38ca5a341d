/**
 * An image within Markdown, as some clients keep those of an answer. The group is its data URL. The text before it has no bracket, so that each
 * character is read once, and not from every `![` before it.
 */
export const markdownImage = /!\[[^\][]{0,200}\]\((data:image\/(?:png|jpe?g|webp);base64,[A-Za-z0-9+/=]+)\)/g
