export default function Page() {
  return <h1>My app</h1>
}
