// What `import CloudKit` brings along on Apple platforms.
@_exported public import CoreLocation
@_exported public import Dispatch
@_exported public import Foundation
