// Classes that both sides know by an alias, com.example and their names.

import flex.messaging.io.amf.client.AMFConnection;
import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.util.Objects;

public final class Classes {
    private Classes() {}

    static void register() {
        for (Class<?> type : new Class<?>[] {Tile.class, Circle.class, Place.class}) {
            AMFConnection.registerAlias("com.example." + type.getSimpleName(), type.getName());
        }
    }

    /** The server has no such type: its objects are those of the client alone. */
    public static final class Tile {
        private double x;
        private String color;

        public Tile() {}

        Tile(double x, String color) {
            this.x = x;
            this.color = color;
        }

        public double getX() {
            return x;
        }

        public void setX(double x) {
            this.x = x;
        }

        public String getColor() {
            return color;
        }

        public void setColor(String color) {
            this.color = color;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Tile && ((Tile) other).x == x && Objects.equals(((Tile) other).color, color);
        }

        @Override
        public int hashCode() {
            return Objects.hash(x, color);
        }

        @Override
        public String toString() {
            return "Tile " + x + " " + color;
        }
    }

    /** A type of the server. */
    public static final class Circle {
        private double radius;

        public Circle() {}

        Circle(double radius) {
            this.radius = radius;
        }

        public double getRadius() {
            return radius;
        }

        public void setRadius(double radius) {
            this.radius = radius;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Circle && ((Circle) other).radius == radius;
        }

        @Override
        public int hashCode() {
            return Double.hashCode(radius);
        }

        @Override
        public String toString() {
            return "Circle " + radius;
        }
    }

    /** One that writes itself. */
    public static final class Place implements Externalizable {
        private int x;
        private Object label = "hé";

        public Place() {}

        Place(int x) {
            this.x = x;
        }

        @Override
        public void writeExternal(ObjectOutput out) throws IOException {
            out.writeInt(x);
            out.writeObject(label);
        }

        @Override
        public void readExternal(ObjectInput in) throws IOException, ClassNotFoundException {
            x = in.readInt();
            label = in.readObject();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Place && ((Place) other).x == x && Objects.equals(((Place) other).label, label);
        }

        @Override
        public int hashCode() {
            return Objects.hash(x, label);
        }

        @Override
        public String toString() {
            return "Place " + x + " " + label;
        }
    }
}
