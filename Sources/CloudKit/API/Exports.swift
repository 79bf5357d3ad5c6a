// The modules that `import CloudKit` also imports on Apple platforms.
@_exported public import CoreLocation
@_exported public import Dispatch
@_exported public import Foundation
