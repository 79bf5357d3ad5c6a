import CloudKit
import Synchronization

/// The properties of a model, found without a value: its own `init(from:)` is run on a decoder that
/// writes down what it is asked for and answers with placeholders.
struct ModelShape: Sendable {
    /// A property as `init(from:)` asked for it.
    struct Property: Sendable {
        /// The coding key.
        let key: String
        /// The type asked for.
        let type: Any.Type
        /// Whether nothing would do as well.
        let isOptional: Bool
        /// What the model says of it.
        let options: CloudKitField?

        /// The name of the field.
        var field: String { options?.name ?? key }
    }

    /// The properties in the order in which they were asked for.
    let properties: [Property]

    /// Whether all properties are known.
    ///
    /// They are not when a type takes no placeholder, and so ends `init(from:)`: an enumeration,
    /// say, that has no case for an empty string and does not list its cases.
    let isComplete: Bool

    private static let known = Mutex<[ObjectIdentifier: ModelShape]>([:])

    /// The shape of a type.
    static func of(_ type: any Decodable.Type) -> ModelShape {
        let identifier = ObjectIdentifier(type)
        if let shape = known.withLock({ $0[identifier] }) { return shape }
        let shape = ModelShape(type)
        known.withLock { $0[identifier] = shape }
        return shape
    }

    private init(_ type: any Decodable.Type) {
        let recorder = ShapeDecoding.Recorder()
        let options = (type as? any CloudKitModel.Type)?.fields.byKey ?? [:]
        isComplete = (try? type.init(from: ShapeDecoding(recorder: recorder))) != nil
        properties = recorder.asked.map { asked in
            Property(
                key: asked.key,
                type: asked.type,
                isOptional: asked.isOptional,
                options: options[asked.key]
            )
        }
    }
}
