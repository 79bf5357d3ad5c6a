import CloudKit
import Hummingbird
import PriceService

// The container, the environment and the key come from variables: see docs/guides/backend.md.
let routes = PriceRoutes(CKContainer.default().publicCloudDatabase)
let app = Application(
    router: routes.router,
    configuration: .init(address: .hostname("127.0.0.1", port: 8080))
)

// Until SIGTERM or SIGINT; requests in flight are completed.
try await app.runService()
